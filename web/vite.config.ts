import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { CHUNKS } from './build/chunks.ts'
import { compressFiles } from './build/compress.ts'
import { screenFiles } from './build/screen-files.ts'
import { singleMessages } from './build/single-messages.ts'
import { writeGuide } from '../scripts/guide.ts'

const page = (name: string) => join(import.meta.dirname, name)

/** Where `vite web` finds a running service to talk to. */
const SERVICE = 'http://localhost:8080'

export default defineConfig({
  plugins: [singleMessages(), react(), screenFiles(), compressed(), guide()],
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
      // Compressing and the guide take most of the time, which is no reason for a warning.
      checks: { bundlerTimings: false },
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

function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle: ({ dir = '' }) => compressFiles(dir),
  }
}

/** Writes the guide beside the dashboard, which links to it. Last, as `npm run up` relies on. */
function guide(): Plugin {
  return {
    name: 'guide',
    apply: 'build',
    writeBundle: {
      order: 'post',
      sequential: true,
      handler: ({ dir = '' }) => writeGuide(join(dir, 'guide'), true),
    },
  }
}
