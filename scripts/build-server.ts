import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'vite'
import { ROOT } from './run.ts'

const DIST = join(ROOT, 'dist')
const source = (path: string) => join(ROOT, 'src', path)

/**
 * Bundles the service with its libraries into `dist`: fewer files start faster, and what is not used
 * is left out. All are in one folder, so that `import.meta.dirname` is the same in each. They are
 * not minified, because that would save 2 MB of memory and make stack traces unreadable.
 */
export async function buildServer(): Promise<void> {
  await build({
    configFile: false,
    root: ROOT,
    logLevel: 'warn',
    plugins: [ascii],
    // pg needs pg-native only where it is installed.
    ssr: { noExternal: true, external: ['pg-native'] },
    build: {
      ssr: true,
      outDir: DIST,
      emptyOutDir: true,
      target: 'node24',
      minify: false,
      // The licenses of the bundled libraries require that their text is kept.
      license: { fileName: 'licenses.json' },
      rolldownOptions: {
        input: {
          main: source('cli/main.ts'),
          'make-template': source('store/embedded/make-template.ts'),
          'report-mail-worker': source('protocols/reports/report-mail-worker.ts'),
          'source-worker': source('migration/files/thread/source-worker.ts'),
          'web-process': source('cli/serve/web-process.ts'),
        },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
  cpSync(source('store/migrations'), join(DIST, 'migrations'), { recursive: true })
}

/** Where one character of a file is not ASCII, Node keeps two bytes for each. */
const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === 'chunk') file.code = file.code.replaceAll(/[^\0-\x7f]/g, escapeCharacter)
  },
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
