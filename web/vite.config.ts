import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { CHUNKS } from './build/chunks.ts'
import { screenFiles } from './build/screen-files.ts'

const page = (name: string) => join(import.meta.dirname, name)

/** Where `vite web` finds a running service to talk to. */
const SERVICE = 'http://localhost:8080'

export default defineConfig({
  plugins: [react(), screenFiles(), compressed()],
  // Scripts and style sheets name files relative to themselves, so that they work below any path.
  experimental: {
    renderBuiltUrl: (_name, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The first browsers with light-dark(), in which the colours are written.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // A data: address would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: page('index.html'), docs: page('docs.html') },
      output: { codeSplitting: { groups: CHUNKS } },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/openapi.json'].map((path) => [
        path,
        { target: SERVICE, headers: { origin: SERVICE } },
      ]),
    ),
  },
})

/**
 * Writes a brotli and a gzip twin beside each text file, so that serving them costs no compression.
 */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle({ dir = '' }) {
      for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(html|js|css|svg)$/.test(name)) continue
        const content = readFileSync(join(dir, name))
        writeFileSync(join(dir, `${name}.br`), brotliCompressSync(content))
        writeFileSync(join(dir, `${name}.gz`), gzipSync(content, { level: 9 }))
      }
    },
  }
}
