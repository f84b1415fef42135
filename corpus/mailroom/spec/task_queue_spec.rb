# frozen_string_literal: true

require_relative "../lib/mailroom"

RSpec.describe Mailroom::TaskQueue do
  it "runs what was enqueued" do
    seen = Thread::Queue.new
    queue = described_class.new(threads: 1).handle(:echo) { |payload| seen << payload }
    queue.enqueue(:echo, 1)
    queue.enqueue(:echo, 2)
    queue.close
    expect([seen.pop, seen.pop]).to eq [1, 2]
  end

  it "tries again" do
    calls = 0
    queue = described_class.new(threads: 1).handle(:flaky) { (calls += 1) < 3 and raise IOError }
    queue.enqueue(:flaky, nil)
    queue.close
    expect(calls).to eq 3
  end
end
