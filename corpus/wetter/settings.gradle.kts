rootProject.name = "wetter"

dependencyResolutionManagement {
    repositories {
        google()
        mavenCentral()
    }
}

include(":app")
