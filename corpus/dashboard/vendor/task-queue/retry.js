// task-queue 2.0.0, built for browsers without modules. Vendored: do not edit.
"use strict";

function backoffDelay(attempt, baseMs, maxMs) {
  return Math.random() * Math.min(maxMs, baseMs * Math.pow(2, attempt - 1));
}

function retryWithBackoff(operation, options) {
  var attempts = (options && options.attempts) || 3;
  var baseMs = (options && options.baseMs) || 100;
  function attempt(n) {
    return operation().catch(function (error) {
      if (n >= attempts) throw error;
      return new Promise(function (resolve) {
        setTimeout(resolve, backoffDelay(n, baseMs, 30000));
      }).then(function () {
        return attempt(n + 1);
      });
    });
  }
  return attempt(1);
}

window.taskQueue = Object.assign(window.taskQueue || {}, { retryWithBackoff: retryWithBackoff });
