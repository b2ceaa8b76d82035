import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findFolders } from '../../src/migration/files/find-folders.ts'
import type { LeftOut } from '../../src/migration/files/formats/found-message.ts'
import { openSource, type LabelMode } from '../../src/migration/files/open-source.ts'
import { runCases } from './run-cases.ts'

/**
 * Files by path, each with its text, one character for each byte, or with `{"link": "target"}`.
 */
type Files = {
  files: Record<string, string | string[] | { link: string }>
  labels?: LabelMode
  /** Names of files are Latin-1, as on systems before UTF-8. */
  latin1?: boolean
}

const { signal } = new AbortController()

/** Reads a tree of files as an import does, and says what becomes of it. */
runCases('./mail-files.json', async ({ files, labels = 'once', latin1 = false }: Files) => {
  const root = mkdtempSync(join(tmpdir(), 'portreeve-case-'))
  try {
    for (const [name, content] of Object.entries(files)) {
      const path = join(root, 'mail', name)
      put(latin1 ? Buffer.from(path, 'latin1') : path, content)
    }
    const { folders, left } = findFolders(join(root, 'mail'))
    const ownLabels = new Set<string>()
    const options = { origin: root, state: join(root, 'state'), labels, signal }
    const store = await openSource(folders, {
      ...options,
      onLeft: (each) => left.push(each),
      onLabel: (label) => ownLabels.add(label),
    })
    const entries = [...store.folders].map(([path, { messages }]) => [
      path,
      messages.map(({ read, flags, date }) => ({ text: textOf(read()), flags, date })),
    ])
    const named = (wanted: boolean) =>
      Object.fromEntries(
        left
          .filter(({ isProblem }) => isProblem === wanted)
          .map(({ path, reason }: LeftOut) => [path.slice(root.length + '/mail/'.length), reason]),
      )
    return {
      folders: Object.fromEntries(entries),
      counts: Object.fromEntries(
        [...store.folders].map(([path, { messages }]) => [path, messages.length]),
      ),
      total: [...store.folders.values()].reduce((sum, { messages }) => sum + messages.length, 0),
      problems: named(true),
      problemCount: left.filter(({ isProblem }) => isProblem).length,
      isSilent: entries.length === 0 && !left.some(({ isProblem }) => isProblem),
      skipped: named(false),
      ownLabels: [...ownLabels],
    }
  } finally {
    rmSync(root, { recursive: true })
  }
})

function put(path: string | Buffer, content: string | string[] | { link: string }): void {
  const text = path.toString('latin1')
  const folder = dirname(text)
  mkdirSync(typeof path === 'string' ? dirname(path) : Buffer.from(folder, 'latin1'), {
    recursive: true,
  })
  if (text.endsWith('/')) mkdirSync(path, { recursive: true })
  else if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, path)
  else
    writeFileSync(path, typeof content === 'string' ? content : `${content.join('\n')}\n`, 'latin1')
}

function textOf(parts: Iterable<Buffer>): string {
  return Buffer.concat(Array.from(parts, (part) => Buffer.from(part))).toString('latin1')
}
