# frozen_string_literal: true

module Mailroom
  # "Letters whose +field+ matches +pattern+ go to +department+." The first rule that matches wins.
  class Rule
    FIELDS = %i[from to subject body].freeze

    attr_reader :department

    def initialize(field:, pattern:, department:)
      raise ArgumentError, "unknown field: #{field}" unless FIELDS.include?(field.to_sym)

      @field = field.to_sym
      @pattern = Regexp.new(pattern, Regexp::IGNORECASE)
      @department = department.to_sym
    end

    def match?(letter)
      @pattern.match?(letter.public_send(@field))
    end
  end
end
