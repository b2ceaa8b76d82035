/** The group of attack reporting in the API reference: several modules have routes in it. */
export const TAGS = ['Attack reporting']
