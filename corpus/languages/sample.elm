port module Shop.Orders exposing (Model, Msg(..), main)

{-| Orders of a shop; notHere = 1 is a comment
-}

import Html exposing (Html, div)


type alias Model =
    { orders : List Order
    , note : String
    }


type alias Order =
    { id : Int, price : Float }


type Msg
    = Add Order
    | Remove Int
    | Clear


type Tree a
    = Leaf
    | Node (Tree a) a (Tree a)


port save : String -> Cmd msg


limit : Int
limit =
    10


total : List Order -> Float
total orders =
    let
        prices =
            List.map .price orders

        helper x =
            x * 2
    in
    List.sum prices |> helper


update : Msg -> Model -> ( Model, Cmd Msg )
update msg model =
    case msg of
        Add order ->
            ( { model | orders = order :: model.orders }, Cmd.none )

        Remove id ->
            ( model, save "notHere = 2" )

        Clear ->
            ( model, Cmd.none )


untyped x =
    \y -> x + y


main =
    Html.text "shop"
