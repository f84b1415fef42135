package wetter.model

/** Ab wann gewarnt wird. Die Werte sind die des Wetterdienstes, Stand 2024. */
object Schwellen {
    const val GLÄTTE = 0.5 // °C
    const val STURM = 20.8 // m/s, Windstärke 9
    const val ORKAN = 32.7 // m/s, Windstärke 12
    const val HITZE = 32.0 // °C
    const val BÖENFAKTOR = 1.6
}
