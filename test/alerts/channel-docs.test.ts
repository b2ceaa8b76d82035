import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { channelPages } from '../../scripts/channel-docs.ts'

it('docs/channels/ and its table are what `npm run channels` writes', async () => {
  const pages = await channelPages()
  for (const [path, page] of pages) expect(readFileSync(path, 'utf8'), path).toBe(page)
  const channels = globSync('docs/channels/*')
  expect(channels.toSorted()).toEqual(
    [...pages.keys()].filter((path) => path.startsWith('docs/channels/')).toSorted(),
  )
})
