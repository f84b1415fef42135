@tool
class_name Player
extends CharacterBody2D
## A player; func not_here(): pass is a comment

signal died
signal health_changed(old_value: int, new_value: int)

enum State { IDLE, RUNNING = 5, JUMPING }
enum { LEFT, RIGHT }

const SPEED := 300.0
const Bullet = preload("res://bullet.gd")

@export var health: int = 100
@export_range(0, 10) var armor := 3
@onready var sprite: Sprite2D = $Sprite2D
static var count := 0
var items: Array[String] = []
var score: int = 0:
	get:
		return score
	set(value):
		score = max(0, value)


class Item:
	var name: String
	var weight := 1.0

	func _init(item_name: String) -> void:
		name = item_name

	func describe() -> String:
		return "%s" % name


func _ready() -> void:
	var local := 1
	for i in range(3):
		var inner = i
	health_changed.connect(func(old, new): print(old, new))


static func create(at: Vector2) -> Player:
	return Player.new()


func _physics_process(delta: float) -> void:
	match state:
		State.IDLE when count > 0:
			velocity = Vector2.ZERO
		[var first, ..]:
			pass
		_:
			await get_tree().create_timer(1.0).timeout
