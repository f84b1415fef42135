// task-queue 2.0.0, built for browsers without modules. Vendored: do not edit.
"use strict";

function TaskQueue(concurrency) {
  this.waiting = [];
  this.running = 0;
  this.concurrency = concurrency || 1;
}

TaskQueue.prototype.enqueue = function (run) {
  this.waiting.push(run);
  this.pump();
};

TaskQueue.prototype.pump = function () {
  var queue = this;
  while (this.running < this.concurrency && this.waiting.length > 0) {
    this.running += 1;
    this.waiting.shift()().finally(function () {
      queue.running -= 1;
      queue.pump();
    });
  }
};

window.taskQueue = Object.assign(window.taskQueue || {}, { TaskQueue: TaskQueue });
