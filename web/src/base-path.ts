/**
 * The path below which the service is reached, such as `/portreeve`; empty at the root of an origin.
 * The scripts are loaded from a folder directly below it.
 */
export const BASE_PATH = new URL(import.meta.url).pathname.split('/').slice(0, -2).join('/')

/** The path in the browser of a path of the service, for what the router does not open. */
export const inService = (path: string) => `${BASE_PATH}${path}`

/** A URL of the service, for people and programs elsewhere. */
export const serviceUrl = (path = '') => `${window.location.origin}${BASE_PATH}${path}`

/** The path in the service of a URL below its own: that of a screen for the router. */
export const pathOf = (url: string) => new URL(url).pathname.slice(BASE_PATH.length) || '/'

export const currentPath = () => pathOf(window.location.href)
