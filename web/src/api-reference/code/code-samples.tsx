import { useId } from 'react'
import { TextWithCode } from '../../ui/text/text-with-code.tsx'
import type { Operation } from '../document/reference.ts'
import { operation as messages } from '../messages.ts'
import { useReferenceContext } from '../reference-context.ts'
import { SAMPLE_LANGUAGES } from '../samples/languages.ts'
import { sampleRequestOf } from '../samples/sample-request.ts'
import { useStoredChoice } from '../stored-choice.ts'
import { CodeBlock } from './code-block.tsx'
import classes from './code-samples.module.css'

const STORAGE_KEY = 'portreeve-reference-language'
const VALUES = SAMPLE_LANGUAGES.map(({ value }) => value)

/** The request in the reader’s language, with the address of this service and no secrets. */
export function CodeSamples({ operation }: { operation: Operation }) {
  const { schemas, baseUrl } = useReferenceContext()
  const [value] = useStoredChoice(STORAGE_KEY, VALUES, 'curl')
  const language = SAMPLE_LANGUAGES.find((each) => each.value === value) ?? SAMPLE_LANGUAGES[0]
  const code = language.write(sampleRequestOf(operation, schemas, baseUrl))
  const hint = { public: '', token: messages.tokenHint, session: messages.cookieHint }
  return (
    <div>
      <CodeBlock
        code={code}
        language={language.code}
        what={messages.sample(language.name)}
        head={<LanguageChoice />}
      />
      {hint[operation.access] !== '' && (
        <p className={classes.hint}>
          <TextWithCode text={hint[operation.access]} />
        </p>
      )}
    </div>
  )
}

/** The choice holds for every operation, and is remembered by this browser. */
function LanguageChoice() {
  const name = useId()
  const [value, choose] = useStoredChoice(STORAGE_KEY, VALUES, 'curl')
  return (
    <div className={classes.languages} role="radiogroup" aria-label={messages.sampleLanguage}>
      {SAMPLE_LANGUAGES.map((language) => (
        <label key={language.value}>
          <input
            type="radio"
            name={name}
            checked={language.value === value}
            onChange={() => choose(language.value)}
          />
          {language.name}
        </label>
      ))}
    </div>
  )
}
