# frozen_string_literal: true

module Mailroom
  # A pool of threads that take jobs from one queue. A job that keeps failing is handed to
  # +on_failure+ and forgotten.
  class TaskQueue
    def initialize(threads: 2, on_failure: ->(error) { warn error.full_message })
      @queue = Thread::Queue.new
      @handlers = {}
      @on_failure = on_failure
      @threads = Array.new(threads) { Thread.new { work } }
    end

    def handle(kind, &block)
      @handlers[kind] = block
      self
    end

    def enqueue(kind, payload)
      raise Error, "no handler for #{kind}" unless @handlers.key?(kind)

      @queue << [kind, payload]
    end

    def close
      @queue.close
      @threads.each(&:join)
    end

    private

    def work
      while (kind, payload = @queue.pop)
        begin
          Retry.retry_with_backoff { @handlers.fetch(kind).call(payload) }
        rescue StandardError => e
          @on_failure.call(e)
        end
      end
    end
  end
end
