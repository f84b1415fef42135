# frozen_string_literal: true

module Mailroom
  module Retry
    module_function

    # Runs the block up to +attempts+ times and sleeps in between, twice as long each time.
    def retry_with_backoff(attempts: 3, base: 0.1, on: [IOError, SystemCallError])
      tries = 0
      begin
        tries += 1
        yield tries
      rescue *on
        raise if tries >= attempts

        sleep(rand * base * (2**tries))
        retry
      end
    end
  end
end
