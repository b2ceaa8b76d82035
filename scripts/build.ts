// `npm run build`: the service in dist/ and the dashboard in web/dist/, for an installed package.
import { buildServer } from './build-server.ts'
import { run } from './run.ts'

await buildServer()
run('npm', ['run', '--silent', 'build:web'])
