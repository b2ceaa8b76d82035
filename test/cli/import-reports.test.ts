import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aggregate, mailWith, tlsReport } from '../dmarc/reports.ts'
import { startDmarc, type Person, type DmarcTest } from '../dmarc/module.ts'
import { PROGRAM, runInProcess, SURROUNDINGS } from './command.ts'

describe('portreeve import-reports', () => {
  let portreeve: DmarcTest
  let alice: Person
  let id: string
  let folder: string

  beforeAll(async () => {
    portreeve = await startDmarc()
    alice = await portreeve.addPerson('Alice')
  })
  afterAll(() => portreeve.stop())
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portreeve-import-'))
    ;({ id } = await portreeve.addDomain(alice.token))
  })
  afterEach(async () => {
    rmSync(folder, { recursive: true })
    await portreeve.pool.query('delete from dmarc_domain')
  })

  const put = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content)
  const importing = (...words: string[]) =>
    runInProcess(['import-reports', ...words], { DATABASE_URL: portreeve.databaseUrl })
  const total = async () =>
    (await portreeve.ask(`domains/${id}/reports`, alice)).body.data.pagination.total

  it('imports folders with any content, and the same folder again without counting twice', async () => {
    mkdirSync(join(folder, 'Maildir/cur'), { recursive: true })
    put('a.xml', aggregate())
    put('b.xml.gz', gzipSync(aggregate()))
    put('tls.json', tlsReport())
    put('Maildir/cur/1.host:2,S', mailWith({ attachment: aggregate() }))
    put('notes.txt', 'no report')
    put('.hidden', 'nor this')
    const first = await importing(folder, '--json')
    expect(first).toMatchObject({ code: 0, err: '' })
    const { data } = JSON.parse(first.out)
    expect(data).toMatchObject({
      stored: 4,
      duplicates: 0,
      failureReports: 0,
      rejected: [{ name: 'notes.txt' }],
    })
    const second = await importing(folder)
    expect(second.out).toMatch(
      /^5 files: 0 reports stored, 4 duplicates, 1 rejected\.\n {2}notes\.txt {2}The file is not a report/,
    )
    expect(await total()).toBe(3)
  })

  it('shows at a terminal how far it is', async () => {
    for (let day = 1; day <= 300; day++) put(`${day}.xml.gz`, gzipSync(aggregate()))
    const command = `"${process.execPath}" "${PROGRAM}" import-reports "${folder}"`
    const env = { ...SURROUNDINGS, DATABASE_URL: portreeve.databaseUrl }
    const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], {
      env,
      cwd: tmpdir(),
    })
    // The progress bar is redrawn in place until it is full.
    // oxlint-disable-next-line no-control-regex -- terminals are controlled by these characters
    const drawn = stdout.split('\r\u001b[K').filter((line) => /\d+ reports {2}\d+\/s/.test(line))
    expect(drawn.length, stdout).toBeGreaterThan(1)
    expect(stdout).toContain('300 files: 300 reports stored')
  })

  it('imports every mail of an mbox', async () => {
    const mails = Array.from(
      { length: 30 },
      () =>
        `From reports@host Sat Nov 21 06:00:00 2026\n${mailWith({ attachment: aggregate() })}\n`,
    )
    put('archive.mbox', mails.join(''))
    expect(JSON.parse((await importing(join(folder, 'archive.mbox'), '--json')).out)).toMatchObject(
      {
        data: { stored: 30, rejected: [] },
      },
    )
  })

  it('names the missing domain, and exits with 1 when no report was imported', async () => {
    put('other.xml', aggregate({ domain: 'other.test' }))
    const { code, out } = await importing(folder)
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('The report is for other.test, which is not registered here.'),
    ])
  })

  it('imports for one account alone when it is named', async () => {
    const bob = await portreeve.addPerson('Bob')
    await portreeve.addDomain(bob.token)
    put('a.xml', aggregate())
    const { rows } = await portreeve.pool.query('select email from account where id = $1', [
      alice.id,
    ])
    expect((await importing(folder, '--email', rows[0].email)).code).toBe(0)
    expect(await total()).toBe(1)
    expect((await importing(folder, '--email', 'nobody@people.test')).code).toBe(1)
  })

  it('needs files to import', async () => {
    expect((await importing()).code).toBe(2)
    expect(await importing(join(folder, 'missing'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('missing'),
    })
  })
})
