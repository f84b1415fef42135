package wetter.net

import java.io.IOException
import java.net.URI
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.Json
import wetter.model.Vorhersage

class VorhersageClient(
    private val endpoint: URI,
    private val speicher: Zwischenspeicher<List<Vorhersage>>,
) {
    /** Aus dem Speicher, solange er frisch ist; sonst vom Server, notfalls doch aus dem Speicher. */
    suspend fun stunden(ort: String): List<Vorhersage> {
        speicher.frisch(ort)?.let { return it }
        return try {
            mitWiederholung { laden(ort) }
        } catch (e: IOException) {
            speicher.irgendwas(ort) ?: throw e
        }
    }

    private suspend fun laden(ort: String): List<Vorhersage> = withContext(Dispatchers.IO) {
        val verbindung = endpoint.resolve("?ort=$ort").toURL().openConnection()
        val text = verbindung.getInputStream().bufferedReader().use { it.readText() }
        val alter = parseDurationOrNull(verbindung.getHeaderField("Cache-Control")) ?: 10.minutes
        Json.decodeFromString<List<Vorhersage>>(text).also { speicher.merken(ort, it, alter) }
    }

    // the same idea as retryWithBackoff in task-queue, but a phone gives up sooner
    private suspend fun <T> mitWiederholung(versuche: Int = 3, tun: suspend () -> T): T {
        repeat(versuche - 1) { versuch ->
            try {
                return tun()
            } catch (_: IOException) {
                delay(200L shl versuch)
            }
        }
        return tun()
    }
}
