package wetter.net

import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds

/** `max-age=600` or `600s` to a duration; null for anything else. Headers are not to be trusted. */
fun parseDurationOrNull(text: String?): Duration? {
    if (text == null) return null
    val match = Regex("""(?:max-age=)?(\d{1,9})s?""").matchEntire(text.trim()) ?: return null
    return match.groupValues[1].toInt().seconds
}
