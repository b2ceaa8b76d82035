import { curlSample } from './curl.ts'
import type { CodeLanguage } from './highlight.ts'
import { javascriptSample } from './javascript.ts'
import { pythonSample } from './python.ts'
import type { SampleRequest } from './sample-request.ts'

export type SampleLanguage = {
  value: string
  name: string
  code: CodeLanguage
  write: (request: SampleRequest) => string
}

/** In the order of the tabs. */
export const SAMPLE_LANGUAGES = [
  { value: 'curl', name: 'curl', code: 'shell', write: curlSample },
  { value: 'javascript', name: 'JavaScript', code: 'javascript', write: javascriptSample },
  { value: 'python', name: 'Python', code: 'python', write: pythonSample },
] as const satisfies SampleLanguage[]
