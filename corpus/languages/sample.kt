@file:JvmName("Sample")
package com.example.shop

import kotlinx.coroutines.*
import java.util.Date as JDate

const val LIMIT = 10
val version: String = "1.0"
var counter by lazy { 0 }
val (first, second) = 1 to 2
typealias Handler<T> = suspend (T) -> Unit

sealed interface Shape {
    val area: Double
    fun draw()
}
data class Point(val x: Int, var y: Int = 0, hidden: String = "") : Comparable<Point> {
    constructor(x: Int) : this(x, 0)
    init { val local = 1; println(local) }
    override operator fun compareTo(other: Point): Int = 0
    val norm: Double get() = 0.0
    lateinit var name: String
    companion object Factory {
        fun create() = Point(0)
        const val ZERO = 0
    }
    inner class Nested {
        fun deep() {}
    }
}
enum class Level(val weight: Int) {
    LOW(1),
    HIGH(2) {
        override fun go() {}
    };

    open fun go() {}
}
object Registry : Base() {
    val items = mutableListOf<String>()
    fun register(name: String) {}
}
@JvmInline value class Id(val raw: String)
interface Predicate<in T> {
    fun test(value: T): Boolean
}
annotation class Marker(val name: String)
abstract class Repository<out T : Any> where T : Comparable<T> {
    protected abstract suspend fun load(): List<T>

    companion object {
        val default = 1
    }
}

suspend inline fun <reified T> fetch(crossinline block: () -> T): T = withContext(Dispatchers.IO) { block() }
fun String.shout(times: Int = 1): String {
    val local = uppercase()
    fun nested() {}
    return local.repeat(times)
}
val String.lastChar: Char get() = this[length - 1]
fun main() {
    when (val x: Any = 1) {
        is Int, !in listOf(2) -> println("$x ${x + 1}")
        else -> {}
    }
    val lambda = { a: Int, b: Pair<Int, Int> -> a + b.first }
    val anon = object : Runnable {
        override fun run() {}
    }
}
val listener = object : Runnable {
    var calls = 0
    override fun run() { calls++ }
}
fun interface Action { fun run(input: String): Int }
public class Registry<T : Any>
internal constructor(
    private val entries: List<T>,
) : List<T> by entries {
    val first by lazy { entries[0] }
    context(log: Logger, scope: Scope)
    fun register(entry: T) { for (i in 0..<10) log.info($$"$${i} costs $5") }
}
fun grade(x: Any): Int = when (x) {
    is Int if x > 3 -> 1
    else -> 0
}
