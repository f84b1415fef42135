# frozen_string_literal: true

require_relative "mailroom/letter"
require_relative "mailroom/retry"
require_relative "mailroom/rule"
require_relative "mailroom/sorter"
require_relative "mailroom/task_queue"

module Mailroom
  class Error < StandardError; end
end
