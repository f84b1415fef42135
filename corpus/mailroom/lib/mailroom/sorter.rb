# frozen_string_literal: true

require "yaml"

module Mailroom
  class Sorter
    FALLBACK = :front_desk

    def self.load(path)
      rules = YAML.safe_load_file(path, symbolize_names: true)
      new(rules.map { |rule| Rule.new(**rule) })
    end

    def initialize(rules)
      @rules = rules
    end

    def department_for(letter)
      return :billing if letter.invoice?

      @rules.find { |rule| rule.match?(letter) }&.department || FALLBACK
    end

    # Letters by department; departments without letters are left out.
    def sort(letters)
      letters.group_by { |letter| department_for(letter) }
    end
  end
end
