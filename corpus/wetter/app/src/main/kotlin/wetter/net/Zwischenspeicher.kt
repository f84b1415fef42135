package wetter.net

import kotlin.time.Duration
import kotlin.time.TimeMark
import kotlin.time.TimeSource

class Zwischenspeicher<T : Any>(private val uhr: TimeSource = TimeSource.Monotonic) {
    private class Eintrag<T>(val wert: T, val bis: TimeMark)

    private val einträge = mutableMapOf<String, Eintrag<T>>()

    @Synchronized
    fun merken(schlüssel: String, wert: T, alter: Duration) {
        einträge[schlüssel] = Eintrag(wert, uhr.markNow() + alter)
    }

    @Synchronized
    fun frisch(schlüssel: String): T? = einträge[schlüssel]?.takeIf { it.bis.hasNotPassedNow() }?.wert

    /** Auch Veraltetes: besser als ein leerer Bildschirm. */
    @Synchronized
    fun irgendwas(schlüssel: String): T? = einträge[schlüssel]?.wert
}
