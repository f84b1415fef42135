<!DOCTYPE html>
<p><?= $title ?></p>
<?php
declare(strict_types=1);

namespace App\Shop;

use App\{Base, Other as Alias};
use function strlen;

const VERSION = '1.0', BUILD = 2;
define('LEGACY', 1);
$global = 1;

#[Attribute(Attribute::TARGET_CLASS)]
final readonly class Order extends Base implements \JsonSerializable
{
    use Loggable, Cacheable { log as protected writeLog; }
    public const int LIMIT = 10;
    protected static ?self $instance = null;
    private int|string|null $id, $other = 1;
    public string $name { get => $this->name; set(string $value) => trim($value); }

    public function __construct(private readonly string $title, protected array $items = [], public int $count = 0) {}
    public static function create(mixed ...$args): static { $local = 1; return new static(...$args); }
    abstract protected function total(): int;
    public function jsonSerialize(): never { throw new \Exception(code: 1); }
}

interface Shape { const SIDES = 3; public function area(): float; }
trait Loggable { private $log = []; public function log(string $m): void { echo <<<TXT
    text {$m}
    TXT; } }
enum Suit: string implements Shape { case Hearts = 'H'; case Spades = 'S'; const Wild = self::Spades; public function label(): string { return match($this) { self::Hearts => 'Red', default => 'Black' }; } }
abstract class Model { abstract public function save(): bool; }

function helper(int &$x, ?callable $fn = null): iterable {
    $closure = fn(int $y): int => $x + $y;
    $anon = new class(1) extends Model { public function save(): bool { return true; } };
    function nested() {}
    yield from [1, 2];
    return strlen(...);
}
$listener = new class { public int $calls = 0; public function notify(): void {} };
?>
<footer></footer>
