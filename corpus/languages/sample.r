# Orders of a shop; not_here <- function() 1 is a comment
library(stats)
LIMIT <- 10
rate = 1.5
.hidden <<- TRUE

total <- function(orders, rate = 1, ...) {
  sum <- 0
  helper <- function(x) x * rate
  for (order in orders) sum <- sum + helper(order$price)
  sum
}

average = function(x) mean(x)

square <- \(x) x^2

`%+%` <- function(a, b) paste0(a, b)

print.order <- function(x, ...) {
  cat("order\n")
  invisible(x)
}

"length<-.order" <- function(x, value) x

1 -> assigned_right

setClass("Person", representation(name = "character"))
setGeneric("greet", function(object, ...) standardGeneric("greet"))
setMethod("greet", "Person", function(object, ...) {
  message(object@name)
})
setRefClass("Account", fields = list(balance = "numeric"), methods = list(
  deposit = function(x) {
    balance <<- balance + x
  }
))

Stack <- R6::R6Class("Stack",
  public = list(
    items = NULL,
    push = function(x) {
      self$items <- c(self$items, x)
      invisible(self)
    }
  ),
  private = list(
    size = 0
  )
)

config <- list(verbose = TRUE, level = 2)
config$level <- 3
names(config) <- c("a", "b")

orders |> total(rate = 2) |> print()
text <- r"(not <- function() 1)"
if (interactive()) result <- total(list())
