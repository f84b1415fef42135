# frozen_string_literal: true

require_relative "../lib/mailroom"

RSpec.describe Mailroom::Sorter do
  subject(:sorter) { described_class.load(File.expand_path("../config/rules.yml", __dir__)) }

  def letter(text)
    Mailroom::Letter.parse("#{text}\r\n\r\nHello")
  end

  it "sends invoices to billing whatever the rules say" do
    expect(sorter.department_for(letter("To: jobs@example.org\r\nSubject: Rechnung 17"))).to eq :billing
  end

  it "takes the first rule that matches" do
    expect(sorter.department_for(letter("Subject: Störung am Aufzug"))).to eq :support
  end

  it "falls back to the front desk" do
    expect(sorter.department_for(letter("Subject: Hi"))).to eq :front_desk
  end
end
