import type { Page } from 'playwright-core'
import type { TestContext } from 'vitest'

const MAX_CHARACTERS = 1_500

const pages = new Set<Page>()

/** Has the page described when a test fails before it is closed. */
export function describeOnFailure(page: Page): void {
  pages.add(page)
  page.on('close', () => pages.delete(page))
}

/**
 * Prints what the pages show that a failed test left open: where nobody can look, the name of a
 * missing element says too little.
 */
export async function describeFailedPages({ task }: TestContext): Promise<void> {
  if (task.result?.state !== 'fail') return
  for (const page of pages) {
    const text = await page
      .locator('body')
      .innerText({ timeout: 5_000 })
      .catch((error: Error) => error.message)
    console.error(`${page.url()} shows:\n${text.slice(0, MAX_CHARACTERS)}`)
  }
}
