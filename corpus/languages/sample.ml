(* naïve *)
open Printf
let version = "1.0"
let rec fact n = if n <= 1 then 1 else n * fact (n - 1)
and even n = n mod 2 = 0
let (a, b) = (1, 2)
let ( +++ ) x y = x + y
let add ?(scale = 1) ~x y : int = let local = x in local + scale * y
type 'a tree = Leaf | Node of 'a tree * 'a * 'a tree
type point = { x : float; mutable y : float }
and alias = int list
type ext = ..
type ext += Extra of int
type poly = [ `A | `B of int ]
exception Not_ready of string
external c_func : int -> int = "c_func"

module type SHAPE = sig
  type t
  val area : t -> float
end
module Circle : SHAPE = struct
  type t = float
  let area r = 3.14 *. r *. r
  module Inner = struct let deep = 1 end
end
module Make (S : SHAPE) = struct let twice t = 2. *. S.area t end
class virtual counter init = object (self)
  val mutable count = init
  method incr = count <- count + 1
  method virtual reset : unit
end
class type readable = object method read : string end
let%test _ = true
let () = match fact 3 with 6 when true -> printf "%d\n" 6 | _ -> ()
let ( let* ) x f = Option.bind x f
let main () = let* x = Some 1 in Some (x + 1)
type _ Effect.t += Ask : int Effect.t
let handle f = match f () with
  | x -> x
  | effect Ask, k -> Effect.Deep.continue k 1
