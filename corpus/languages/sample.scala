package com.example
package shop

import scala.collection.mutable.{Map as MMap, *}
import java.util.Date

val version = "1.0"
var counter: Int = 0
type Handler[T] = T => Unit
def topLevel(x: Int)(using ctx: Context): Int = x

sealed trait Shape extends Product with Serializable:
  val area: Double
  def draw(): Unit
  type Unit2

case class Point(x: Int, var y: Int = 0) extends Shape:
  val area = 0.0
  def draw(): Unit = { val local = 1; def nested = 2 }
  def +(other: Point): Point = this
  lazy val norm: Double = 0
end Point

case object Origin extends Shape { val area = 1.0; def draw() = () }
object Point { def apply(s: String): Point = new Point(0); implicit val ordering: Ordering[Point] = ??? }
abstract class Base[+A, B <: AnyRef](protected val name: String) { self: Shape =>
  private[shop] var state = 0
  def this() = this("x")
  class Inner { def deep = 1 }
}
enum Color(val rgb: Int):
  case Red extends Color(0xFF0000)
  case Green, Blue
  def hex = rgb.toHexString

given intOrd: Ordering[Int] with
  def compare(a: Int, b: Int) = a - b
extension (s: String)
  def shout: String = s.toUpperCase
opaque type Id = Long
inline def debug(inline msg: String): Unit = println(msg)
package object util { def helper = 1 }
trait Old { def m: Int = { case class Local(); 1 } }
object Listeners { val first = new Runnable { val calls = 0; def run() = {} }; def inMethod = new Runnable { def run() = {} }; val sum = { val part = 1; part } }
given listOrd: [A] => (ord: Ordering[A]) => Ordering[List[A]]:
  def compare(a: List[A], b: List[A]) = 0
