import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The longest test files by path prefix, longest first. By default the largest start first, but
 * these are long because of what they wait for, and one that starts last runs alone.
 */
const LONGEST = [
  // Collects garbage forty times: first, while the process has little of it.
  'test/net/imap/copy',
  'test/browser/accessibility',
  'test/browser/layout-shift',
  'test/migration/batches/batches',
  'test/cli/serve',
  'test/jobs/jobs',
  'test/browser/api-reference',
  'test/store/major-upgrade',
  'test/migration/names',
  'test/cli/user',
  'test/store/embedded',
  'test/store/upgrade',
  'test/deploy/package',
]

/** Starts the longest test files first, then the rest in the order of the runner. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not that of an array
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const path = moduleId.slice(project.config.root.length + 1)
  const place = LONGEST.findIndex((prefix) => path.startsWith(prefix))
  return place < 0 ? LONGEST.length : place
}
