(** What the module offers: val in_a_comment : int *)

type t
type 'a tree = Leaf | Node of { left : 'a tree; value : 'a; right : 'a tree }

exception Empty of string

val create : ?capacity:int -> unit -> t
(** A new one. *)

val ( >>= ) : 'a option -> ('a -> 'b option) -> 'b option
val max_depth : int

external length : t -> int = "container_length"

module Cursor : sig
  type position = private int
  val advance : position -> position
end

module type S = sig
  type key
  val find : key -> t -> t option
end

module Make (Key : Map.OrderedType) : S with type key = Key.t

class type reader = object
  method read : bytes -> int
end

val last : t -> string
