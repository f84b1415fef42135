# frozen_string_literal: true

module Mailroom
  # What a rule may look at. Header names are lower case, bodies are UTF-8.
  Letter = Data.define(:from, :to, :subject, :body, :attachments) do
    def self.parse(text)
      head, body = text.split(/\r?\n\r?\n/, 2)
      fields = head.gsub(/\r?\n[ \t]+/, " ").lines.to_h do |line|
        name, value = line.chomp.split(": ", 2)
        [name.downcase, value.to_s]
      end
      new(
        from: fields.fetch("from", ""),
        to: fields.fetch("to", ""),
        subject: fields.fetch("subject", ""),
        body: body.to_s,
        attachments: [],
      )
    end

    def invoice?
      subject.match?(/\b(invoice|rechnung|facture)\b/i)
    end
  end
end
