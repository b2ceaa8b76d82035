import { currentInstallation, SETTINGS } from '../config.ts'
import { editDistance } from './suggest.ts'

/** Shorter names are close to too many variables of other programs. */
const MIN_LENGTH = 8
const MAX_EDITS = 2

const KNOWN = [...Object.keys(SETTINGS).flatMap((name) => [name, `${name}_FILE`]), 'PORTREEVE_ENV_FILE'] // prettier-ignore

/**
 * Finds variables that are no settings, but were probably meant as one: the service would run with
 * the default, and say nothing.
 * @param variables by name; by default those of the installation
 */
export function findMisspeltSettings(
  variables: Record<string, string | undefined> = currentInstallation().variables,
): { given: string; meant: string }[] {
  return Object.keys(variables)
    .filter((given) => !KNOWN.includes(given))
    .flatMap((given) => {
      const meant = KNOWN.find((name) => isMeant(given, name))
      return meant === undefined || variables[meant] !== undefined ? [] : [{ given, meant }]
    })
}

function isMeant(given: string, name: string): boolean {
  if (given.toUpperCase() === name) return true
  return given.length >= MIN_LENGTH && editDistance(given, name) <= MAX_EDITS
}
