package wetter

import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertNull
import kotlin.time.Duration.Companion.minutes
import wetter.model.Stufe
import wetter.model.Vorhersage
import wetter.model.warnungen
import wetter.net.parseDurationOrNull

class WarnungTest {
    private fun stunde(temperatur: Double, wind: Double = 0.0, niederschlag: Double = 0.0) =
        Vorhersage("Zürich", 0, temperatur, wind, niederschlag)

    @Test
    fun `Glätte braucht Nässe`() {
        assertEquals(0, warnungen(listOf(stunde(-3.0))).size)
        assertEquals(1, warnungen(listOf(stunde(-3.0, niederschlag = 0.2))).size)
    }

    @Test
    fun `das Schlimmste zuerst`() {
        val alles = warnungen(listOf(stunde(33.0, wind = 25.0)))
        assertEquals(listOf(Stufe.ROT, Stufe.GELB), alles.map { it.stufe })
    }

    @Test
    fun `max-age`() {
        assertEquals(10.minutes, parseDurationOrNull("max-age=600"))
        assertNull(parseDurationOrNull("no-store"))
    }
}
