// `npm run up`: builds what is out of date and starts the service.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { main } from '../src/cli/main.ts'
import { ROOT } from './run.ts'

const failure = dashboardIsStale() ? await buildDashboard() : 0
process.exitCode = failure === 0 ? await main(['serve', ...process.argv.slice(2)]) : failure

/** Started without npm and its shell, so that ending this process ends the build. */
async function buildDashboard(): Promise<number> {
  if (process.stdout.isTTY) console.log('Building the dashboard…')
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js')
  const args = [vite, 'build', 'web', '--logLevel', 'warn']
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
  const end = () => child.kill('SIGTERM')
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, end)
  const [code] = (await once(child, 'exit')) as [number | null]
  for (const signal of ['SIGTERM', 'SIGHUP']) process.off(signal, end)
  return code ?? 1
}

function dashboardIsStale(): boolean {
  // Written last.
  const built = join(ROOT, 'web', 'dist', 'guide', 'index.html')
  if (!existsSync(built)) return true
  const sources = globSync(
    [
      'web/{src,public}/**/*.*',
      'web/*.*',
      'src/*/shapes.ts',
      'src/diagnostics/{check-verdict,messages}.ts',
      'docs/**/*.md',
      'scripts/guide.ts',
      'package-lock.json',
    ],
    {
      cwd: ROOT,
    },
  )
  const newest = Math.max(...sources.map((file) => statSync(join(ROOT, file)).mtimeMs))
  return newest > statSync(built).mtimeMs
}
