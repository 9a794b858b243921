// Porter's stemmer with NLTK's extensions, as rouge_score uses it. Words of [a-z0-9] only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

class Porter {
  public:
    std::string operator()(std::string word) const {
        for (const auto &[form, stem] : irregular)
            if (word == form) return std::string(stem);
        if (word.size() <= 2) return word;
        step1a(word);
        step1b(word);
        if (ends(word, "y") && word.size() > 2 && consonant(word, word.size() - 2)) word.back() = 'i';
        step2(word);
        apply(word, step3_rules, 0);
        step4(word);
        step5(word);
        return word;
    }

  private:
    struct Rule {
        std::string_view suffix, replacement;
    };

    static bool ends(const std::string &word, std::string_view suffix) {
        return word.size() >= suffix.size() &&
               word.compare(word.size() - suffix.size(), suffix.size(), suffix) == 0;
    }

    static bool vowel_letter(char c) {
        return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u';
    }

    // A y is a consonant where the letter before it is none.
    static bool consonant(const std::string &word, size_t at) {
        bool flag = true;
        size_t start = at;
        while (start > 0 && word[start] == 'y') --start;
        for (size_t i = start; i <= at; ++i)
            flag = vowel_letter(word[i]) ? false : word[i] == 'y' && i > 0 ? !flag : true;
        return flag;
    }

    // The number of vowel-consonant turns in the first `length` letters.
    static int measure(const std::string &word, size_t length) {
        int turns = 0;
        bool before = true;
        for (size_t i = 0; i < length; ++i) {
            const char c = word[i];
            const bool now = vowel_letter(c) ? false : c == 'y' && i > 0 ? !before : true;
            if (i > 0 && !before && now) ++turns;
            before = now;
        }
        return turns;
    }

    // Letters and y after a consonant; the first vowel ends the search, so this is linear.
    static bool has_vowel(const std::string &word, size_t length) {
        for (size_t i = 0; i < length; ++i)
            if (vowel_letter(word[i]) || (word[i] == 'y' && i > 0)) return true;
        return false;
    }

    static bool double_consonant(const std::string &word) {
        const size_t size = word.size();
        return size >= 2 && word[size - 1] == word[size - 2] && consonant(word, size - 1);
    }

    static bool ends_cvc(const std::string &word) {
        const size_t size = word.size();
        if (size == 2) return !consonant(word, 0) && consonant(word, 1);
        if (size < 3) return false;
        const char last = word.back();
        return consonant(word, size - 3) && !consonant(word, size - 2) &&
               consonant(word, size - 1) && last != 'w' && last != 'x' && last != 'y';
    }

    static void replace(std::string &word, std::string_view suffix, std::string_view replacement) {
        word.replace(word.size() - suffix.size(), suffix.size(), replacement);
    }

    // The first rule whose suffix fits decides, whether its condition holds or not.
    static bool apply(std::string &word, const std::vector<Rule> &rules, int more_than) {
        for (const Rule &rule : rules) {
            if (!ends(word, rule.suffix)) continue;
            if (measure(word, word.size() - rule.suffix.size()) > more_than)
                replace(word, rule.suffix, rule.replacement);
            return true;
        }
        return false;
    }

    static void step1a(std::string &word) {
        if (ends(word, "ies") && word.size() == 4) return replace(word, "ies", "ie");
        if (ends(word, "sses")) return replace(word, "sses", "ss");
        if (ends(word, "ies")) return replace(word, "ies", "i");
        if (ends(word, "s") && !ends(word, "ss")) word.pop_back();
    }

    static void step1b(std::string &word) {
        if (ends(word, "ied")) return replace(word, "ied", word.size() == 4 ? "ie" : "i");
        if (ends(word, "eed")) {
            if (measure(word, word.size() - 3) > 0) word.pop_back();
            return;
        }
        std::string_view suffix;
        for (std::string_view each : {"ed", "ing"})
            if (ends(word, each) && has_vowel(word, word.size() - each.size())) {
                suffix = each;
                break;
            }
        if (suffix.empty()) return;
        word.resize(word.size() - suffix.size());
        mend(word);
    }

    static void mend(std::string &word) {
        if (ends(word, "at") || ends(word, "bl") || ends(word, "iz")) {
            word.push_back('e');
        } else if (double_consonant(word)) {
            const char last = word.back();
            if (last != 'l' && last != 's' && last != 'z') word.pop_back();
        } else if (measure(word, word.size()) == 1 && ends_cvc(word)) {
            word.push_back('e');
        }
    }

    static void step2(std::string &word) {
        while (ends(word, "alli") && measure(word, word.size() - 4) > 0) replace(word, "alli", "al");
        if (apply(word, step2_rules, 0)) return;
        if (ends(word, "logi") && measure(word, word.size() - 3) > 0) word.pop_back();
    }

    static void step4(std::string &word) {
        static const std::vector<Rule> before_ion{
            {"al", ""},   {"ance", ""}, {"ence", ""},  {"er", ""},   {"ic", ""}, {"able", ""},
            {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""}, {"ent", ""}};
        static const std::vector<Rule> after_ion{{"ou", ""},  {"ism", ""}, {"ate", ""}, {"iti", ""},
                                                 {"ous", ""}, {"ive", ""}, {"ize", ""}};
        if (apply(word, before_ion, 1)) return;
        if (ends(word, "ion")) {
            const size_t stem = word.size() - 3;
            if (measure(word, stem) > 1 && (word[stem - 1] == 's' || word[stem - 1] == 't'))
                word.resize(stem);
            return;
        }
        apply(word, after_ion, 1);
    }

    static void step5(std::string &word) {
        if (ends(word, "e")) {
            std::string stem = word.substr(0, word.size() - 1);
            const int turns = measure(stem, stem.size());
            if (turns > 1 || (turns == 1 && !ends_cvc(stem))) word = stem;
        }
        if (ends(word, "ll") && measure(word, word.size() - 1) > 1) word.pop_back();
    }

    inline static const std::vector<Rule> irregular{
        {"sky", "sky"},         {"skies", "sky"},       {"dying", "die"},     {"lying", "lie"},
        {"tying", "tie"},       {"news", "news"},       {"innings", "inning"}, {"inning", "inning"},
        {"outings", "outing"},  {"outing", "outing"},   {"cannings", "canning"},
        {"canning", "canning"}, {"howe", "howe"},       {"proceed", "proceed"},
        {"exceed", "exceed"},   {"succeed", "succeed"}};
    inline static const std::vector<Rule> step2_rules{
        {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
        {"izer", "ize"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"},
        {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
        {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
        {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
        {"fulli", "ful"}};
    inline static const std::vector<Rule> step3_rules{
        {"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
        {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
};

} // namespace assay
