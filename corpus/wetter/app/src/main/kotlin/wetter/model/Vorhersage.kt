package wetter.model

import java.time.Instant
import kotlinx.serialization.Serializable

/** Was für eine Stunde erwartet wird. */
@Serializable
data class Vorhersage(
    val ort: String,
    val epochSeconds: Long,
    val temperatur: Double, // °C
    val windgeschwindigkeit: Double, // m/s, Mittel über zehn Minuten
    val niederschlag: Double, // mm in der Stunde
) {
    val zeit: Instant get() = Instant.ofEpochSecond(epochSeconds)

    /** Gefühlte Temperatur nach der Windchill-Formel; nur unter 10 °C und über 1,3 m/s sinnvoll. */
    fun gefuehlt(): Double {
        val kmh = windgeschwindigkeit * 3.6
        if (temperatur > 10 || kmh < 4.8) return temperatur
        val v = Math.pow(kmh, 0.16)
        return 13.12 + 0.6215 * temperatur - 11.37 * v + 0.3965 * temperatur * v
    }
}

enum class Himmelsrichtung(val grad: Int) {
    NORD(0), OST(90), SÜD(180), WEST(270);

    companion object {
        fun von(grad: Int): Himmelsrichtung = entries[((grad + 45) % 360) / 90]
    }
}
