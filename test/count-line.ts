import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with one line that counts its tests, for programs that read the output. */
export class CountLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    // A file that cannot be loaded, or whose hook fails, has no failed test.
    const broken = modules.filter((module) => module.state() === 'failed' && !hasFailed(module))
    const failed = count('failed') + broken.length
    console.log(`${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped`)
  }
}

function hasFailed(module: TestModule): boolean {
  return [...module.children.allTests('failed')].length > 0
}
