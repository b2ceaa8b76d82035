// `npm run build`, and before `npm pack`: JavaScript in dist/ and the dashboard in web/dist/, for
// an installed package.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, run } from './run.ts'

rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
run('tsc', ['-p', 'tsconfig.build.json'])
cpSync(join(ROOT, 'src/store/migrations'), join(ROOT, 'dist/store/migrations'), { recursive: true })
run('npm', ['run', '--silent', 'build:web'])
