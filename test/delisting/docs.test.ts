import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { IP } from '../servers/blacklists.ts'
import { examplesIn, startShell } from '../shell.ts'
import { AUTOMATIC, EMAIL, FORM, startPlace, type Place } from './place.ts'

const page = readFileSync('docs/delisting.md', 'utf8')

let place: Place
beforeEach(async () => {
  place = await startPlace()
})
afterEach(() => place.stop())

it('behaves as docs/delisting.md documents, command by command', async () => {
  await place.list({ [AUTOMATIC]: '127.0.0.2', [EMAIL]: '127.0.0.2', [FORM]: '127.0.0.2' })
  const url = await place.portreeve.listen()
  const blocks = examplesIn(page).map((block) => block.replace('http://localhost:8080', url))
  const [functions, begin, look, confirm, submit, retry, cancel, list] = blocks as [
    string,
    ...string[],
  ]
  const shell = startShell({ PORTREEVE_TOKEN: place.alice, IP })
  const run = (block: string | undefined) => shell.run(block ?? 'false')

  await run(functions)
  await run(begin)
  await place.portreeve.tend()
  const seen = await run(look)
  expect(seen).toContain('in-progress')
  expect(seen).toContain('SpamCop SCBL: automatic, waiting. Entries expire automatically')
  expect(seen).toContain('NordSpam BL: email, waiting. Enter the cause of the listing')
  expect(await run(confirm)).toMatch(/please remove 8\.8\.4\.4[^]*true\n$/)
  await place.portreeve.tend()
  expect(place.sink.mails.map(({ text }) => text)).toEqual([
    expect.stringContaining('Password changed on 20 November.'),
  ])
  expect(await run(submit)).toMatch(
    /^https:\/\/www\.barracudacentral\.org\/rbl\/removal-request\n[^]*true\n$/,
  )
  await place.list({ [AUTOMATIC]: {} })
  expect(await run(retry)).toBe('completed\n')
  expect(await run(cancel)).toBe('true\n')
  const listed = await run(list)
  expect(listed).toContain('"total": 1')
  expect(listed).toContain('Marked as submitted.')
  expect(blocks.length).toBe(8)
  await shell.end()
}, 60_000)
