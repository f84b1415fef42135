(ns shop.orders
  "Orders of a shop; (defn not-here [] 1) is a text."
  (:require [clojure.string :as str]
            [clojure.set :refer [union]]))

;; (defn in-a-comment [] nil)
#_(defn discarded [] nil)
(def limit 10)
(def ^:private rate "What is taken." 1.5)
(def ^{:doc "with meta"} currency :eur)
(defonce state (atom {}))
(declare later)

(defn total
  "Sum of all prices."
  ([orders] (total orders 1))
  ([orders rate]
   (let [sum (reduce + (map :price orders))
         helper (fn [x] (* x rate))]
     (helper sum))))

(defn- secret [{:keys [id name]}] (str id name))

(defn ^String describe [^Order order] (str order))

(defn valid? [order] (some? order))
(defn reset-all! [] (reset! state {}))

(defmacro unless [test & body]
  `(if (not ~test) (do ~@body)))

(defmulti area :shape)
(defmethod area :circle [{:keys [radius]}] (* 3.14 radius radius))
(defmethod area :square [{:keys [side]}] (* side side))

(defprotocol Priced
  "What has a price."
  (price [this] "The price.")
  (discount [this percent]))

(defrecord Order [id items]
  Priced
  (price [this] (count items))
  (discount [this percent] (* percent (price this))))

(deftype Stack [^:volatile-mutable items]
  Object
  (toString [_] (str items)))

(definterface Visitor
  (visit [node]))

(extend-type String
  Priced
  (price [s] (count s)))

(comment
  (total [{:price 1}]))

#?(:clj (defn on-the-jvm [] :jvm)
   :cljs (defn in-the-browser [] :js))

(deftest total-test
  (is (= 1 (total [{:price 1}]))))
