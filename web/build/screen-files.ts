import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const ROUTES = join(import.meta.dirname, '../src/routes.tsx')
const MAIN = join(import.meta.dirname, '../src/main.tsx')
const PAGES = join(import.meta.dirname, '../src/pages/')

type Chunk = {
  type: 'chunk'
  fileName: string
  facadeModuleId: string | null
  moduleIds: string[]
  imports: string[]
  viteMetadata?: { importedCss: Set<string> } | undefined
}

/**
 * Writes `screens.json`: the files of each screen by its path, beside those that index.html names.
 * The service sends them with the page as `Link` headers, so that they load with the first script
 * instead of after it.
 */
export function screenFiles(): Plugin {
  return {
    name: 'screen-files',
    apply: 'build',
    // After Vite has recorded the style sheets of each chunk.
    enforce: 'post',
    generateBundle(_options, bundle) {
      const chunks = new Map(
        Object.values(bundle).flatMap((output) =>
          output.type === 'chunk' ? [[output.fileName, output as Chunk] as const] : [],
        ),
      )
      const entry = [...chunks.values()].find(({ moduleIds }) => moduleIds.includes(MAIN))
      const initial = entry ? filesOf(entry.fileName, chunks) : new Set<string>()
      const pages = new Map([...chunks.values()].map((chunk) => [chunk.facadeModuleId, chunk]))
      const screens = screenPages().map(([path, page]) => {
        const chunk = pages.get(join(PAGES, page))
        if (!chunk) return this.error(`${page} of ${path} has no file of its own.`)
        const files = [...filesOf(chunk.fileName, chunks)].filter((file) => !initial.has(file))
        return { path, files }
      })
      this.emitFile({ type: 'asset', fileName: 'screens.json', source: JSON.stringify(screens) })
    },
  }
}

/** Path and file of each screen, from the lines of routes.tsx. */
function screenPages(): [path: string, page: string][] {
  const lines = /(?:open|own)Screen\(\s*'([^']+)',\s*\(\) => import\('\.\/pages\/([^']+)'\)/g
  return [...readFileSync(ROUTES, 'utf8').matchAll(lines)].map(([, path = '', page = '']) => [
    path,
    page,
  ])
}

/** A chunk, its style sheets, and those of all chunks that it imports. */
function filesOf(fileName: string, chunks: Map<string, Chunk>): Set<string> {
  const files = new Set([fileName])
  for (const file of files) {
    const chunk = chunks.get(file)
    chunk?.imports.forEach((imported) => files.add(imported))
    chunk?.viteMetadata?.importedCss.forEach((sheet) => files.add(sheet))
  }
  return files
}
