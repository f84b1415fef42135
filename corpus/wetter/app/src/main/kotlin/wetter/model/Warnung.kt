package wetter.model

/** Je schlimmer, desto später in der Liste: der Vergleich ist der Ordnungszahl nach. */
enum class Stufe { GELB, ORANGE, ROT }

sealed interface Warnung {
    val stufe: Stufe

    data class Glätte(override val stufe: Stufe, val temperatur: Double) : Warnung
    data class Sturm(override val stufe: Stufe, val böe: Double) : Warnung
    data class Hitze(override val stufe: Stufe, val größteTemperatur: Double) : Warnung
}

fun warnungen(stunden: List<Vorhersage>): List<Warnung> = buildList {
    stunden.firstOrNull { it.temperatur <= Schwellen.GLÄTTE && it.niederschlag > 0 }
        ?.let { add(Warnung.Glätte(Stufe.ORANGE, it.temperatur)) }
    val böe = stunden.maxOfOrNull { it.windgeschwindigkeit * Schwellen.BÖENFAKTOR } ?: 0.0
    if (böe >= Schwellen.STURM) {
        add(Warnung.Sturm(if (böe >= Schwellen.ORKAN) Stufe.ROT else Stufe.GELB, böe))
    }
    val größte = stunden.maxOfOrNull { it.temperatur } ?: return@buildList
    if (größte >= Schwellen.HITZE) add(Warnung.Hitze(Stufe.GELB, größte))
}.sortedByDescending { it.stufe }
