; What the language can say about itself.
(define (identity x) x)
(define (compose f g) (lambda (x) (f (g x))))

(define (fold f start list)
  (if list
      (fold f (f start (head list)) (tail list))
      start))

(define (sum list) (fold + 0 list))
(define (reverse list) (fold (lambda (done x) (cons x done)) '() list))

; A queue is two lists: enqueue puts at the back, dequeue takes from the front.
(define (make-queue) (cons '() '()))
(define (enqueue queue x) (cons (head queue) (cons x (tail queue))))
