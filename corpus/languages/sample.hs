{-# LANGUAGE GADTs, LambdaCase, OverloadedRecordDot, TypeFamilies, PatternSynonyms #-}
-- | Orders of a shop; `notHere x = x` is a comment
module Shop.Orders
  ( Order (..)
  , total
  ) where

import qualified Data.Map.Strict as Map
import Data.List (sortOn)

-- types
data Order = Order
  { orderId :: !Int
  , customer, country :: String
  }
  | Draft Int
  deriving stock (Eq, Show)

newtype Wrapper a = Wrapper { unwrap :: a }

data Shape where
  Circle :: Double -> Shape
  Square :: { side :: Double } -> Shape

type Price = Double
type family Element c where
  Element [a] = a
data family Store k
data instance Store Int = IntStore [Int]

class (Eq a) => Priced a where
  type Currency a
  price :: a -> Price
  price _ = 0
  {-# MINIMAL price #-}

instance Priced Order where
  price order = fromIntegral order.orderId

pattern Pair :: a -> b -> (a, b)
pattern Pair x y = (x, y)

infixl 6 <+>

-- functions
limit :: Int
limit = 10

total, average :: [Order] -> Price
total orders = sum (map price orders)
  where
    local = 1
    helper n = n + local
average orders = total orders / 2

describe :: Order -> String
describe (Draft _) = "draft"
describe order
  | order.orderId > limit = "large"
  | otherwise = let text = "small" in text

(<+>) :: Price -> Price -> Price
a <+> b = a + b

sign :: Int -> Int
sign = \case
  0 -> 0
  n | n < 0 -> -1
    | otherwise -> 1

untyped x = x

foreign import ccall "math.h sin" c_sin :: Double -> Double

main :: IO ()
main = do
  let greeting = "hello"
  putStrLn greeting
