// `npm run up`: builds what must be built and starts the service.
import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { main } from '../src/cli/main.ts'
import { ROOT, run } from './run.ts'

if (dashboardIsStale()) run('npm', ['run', '--silent', 'build:web'])
process.exitCode = await main(['serve', ...process.argv.slice(2)])

function dashboardIsStale(): boolean {
  const built = join(ROOT, 'web', 'dist', 'index.html')
  if (!existsSync(built)) return true
  const sources = globSync(['web/{src,public}/**/*.*', 'web/*.*', 'src/*/shapes.ts', 'package-lock.json'], {
    cwd: ROOT,
  })
  const newest = Math.max(...sources.map((file) => statSync(join(ROOT, file)).mtimeMs))
  return newest > statSync(built).mtimeMs
}
