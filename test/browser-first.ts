import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Orders files by the times of the last run, and new ones by their size, but those with a browser
 * first: on a machine without times, the files that walk over all screens are small, began last, and
 * ran for a minute while the other workers had nothing to do.
 */
export class BrowserFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is no array’s
    const sorted = await super.sort(files)
    const isFirst = (file: TestSpecification) =>
      file.moduleId.includes('/test/browser/') && !this.ctx.cache.getTestSpecificationResult(file)
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))]
  }
}
