/** What the kernel exports, as TypeScript sees it. Contracts stand at each function in assembly/. */

export interface KernelExports {
  countNewlines(from: number, to: number): number;
}
